package tidemark.tpcc;

import com.sun.management.OperatingSystemMXBean;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Reads a binlog until it has given so many changes, and counts them; a run for each line of its input, which names a
 * file of properties. Prints a line of JSON: images of rows for each table, where an update counts twice, the seconds,
 * and the seconds of CPU of this process.
 */
public final class DebeziumCount implements DebeziumEngine.ChangeConsumer<ChangeEvent<SourceRecord, SourceRecord>> {
    private final Map<String, Long> images = new TreeMap<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final long wanted;
    private long changes;
    private volatile String problem;

    private DebeziumCount(long wanted) {
        this.wanted = wanted;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Properties properties = new Properties();
            try (FileReader file = new FileReader(line)) {
                properties.load(file);
            }
            new DebeziumCount(Long.parseLong(properties.getProperty("wanted.changes"))).run(properties);
        }
    }

    private void run(Properties properties) throws InterruptedException, IOException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long begun = System.nanoTime(), used = system.getProcessCpuTime();
        DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine = DebeziumEngine.create(Connect.class)
                .using(properties)
                .using((success, message, error) -> ended(success, message, error))
                .notifying(this)
                .build();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        executor.execute(engine);
        end.await();
        double seconds = (System.nanoTime() - begun) / 1e9, cpu = (system.getProcessCpuTime() - used) / 1e9;
        if (problem != null) {
            System.out.println("{\"why\": \"" + problem.replaceAll("[\"\\\\\\s]+", " ") + "\"}");
        } else {
            String counts = images.entrySet().stream()
                    .map(each -> "\"" + each.getKey() + "\": " + each.getValue())
                    .collect(Collectors.joining(", ", "{", "}"));
            System.out.printf("{\"images\": %s, \"seconds\": %.3f, \"cpu_s\": %.3f}%n", counts, seconds, cpu);
        }
        System.out.flush();
        if (problem == null) {
            engine.close();
        }
        executor.shutdown();
    }

    private void ended(boolean success, String message, Throwable error) {
        if (end.getCount() > 0) {
            problem = error == null ? message : String.valueOf(cause(error));
            end.countDown();
        }
    }

    private static Throwable cause(Throwable error) {
        return error.getCause() == null ? error : cause(error.getCause());
    }

    @Override
    public void handleBatch(
            List<ChangeEvent<SourceRecord, SourceRecord>> records,
            DebeziumEngine.RecordCommitter<ChangeEvent<SourceRecord, SourceRecord>> committer)
            throws InterruptedException {
        for (ChangeEvent<SourceRecord, SourceRecord> record : records) {
            count(record.value());
            committer.markProcessed(record);
        }
        committer.markBatchFinished();
        if (changes >= wanted) {
            end.countDown();
        }
    }

    private void count(SourceRecord record) {
        Struct value = (Struct) record.value();
        String table = value.getStruct("source").getString("table");
        images.merge(table, "u".equals(value.getString("op")) ? 2L : 1L, Long::sum);
        changes++;
    }
}
