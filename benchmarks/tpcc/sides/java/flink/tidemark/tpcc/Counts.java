package tidemark.tpcc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** How many rows the sinks of this JVM were given, for each table. */
public final class Counts {
    private static final Map<String, LongAdder> TABLES = new ConcurrentHashMap<>();

    private Counts() {}

    static LongAdder of(String table) {
        return TABLES.computeIfAbsent(table, name -> new LongAdder());
    }

    public static long count(String table) {
        return of(table).sum();
    }

    public static long total() {
        return TABLES.values().stream().mapToLong(LongAdder::sum).sum();
    }

    public static void reset() {
        TABLES.values().forEach(LongAdder::reset);
    }
}
