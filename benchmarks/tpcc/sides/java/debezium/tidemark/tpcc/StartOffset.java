package tidemark.tpcc;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.runtime.WorkerConfig;
import org.apache.kafka.connect.storage.MemoryOffsetBackingStore;

/** Offsets in memory that begin with a position in the binlog. */
public class StartOffset extends MemoryOffsetBackingStore {
    @Override
    public void configure(WorkerConfig config) {
        super.configure(config);
        Map<String, String> given = config.originalsStrings();
        String key = "[\"%s\",{\"server\":\"%s\"}]".formatted(given.get("name"), given.get("topic.prefix"));
        String value = "{\"file\":\"%s\",\"pos\":%s,\"gtids\":\"%s\"}"
                .formatted(given.get("start.file"), given.get("start.pos"), given.get("start.gtids"));
        data.put(bytes(key), bytes(value));
    }

    @Override
    public Set<Map<String, Object>> connectorPartitions(String connector) {
        return Set.of();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
