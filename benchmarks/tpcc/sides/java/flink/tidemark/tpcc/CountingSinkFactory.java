package tidemark.tpcc;

import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.streaming.api.functions.sink.SinkFunction;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkFunctionProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;

/** A sink that counts the rows of a changelog and does nothing else: a blackhole that can be asked. */
public class CountingSinkFactory implements DynamicTableSinkFactory {
    private static final ConfigOption<String> TABLE = ConfigOptions.key("table").stringType().noDefaultValue();

    @Override
    public String factoryIdentifier() {
        return "counting";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(TABLE);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSink createDynamicTableSink(DynamicTableFactory.Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        return new CountingSink(helper.getOptions().get(TABLE));
    }

    private record CountingSink(String table) implements DynamicTableSink {
        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return ChangelogMode.all();
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            return SinkFunctionProvider.of(new Count(table));
        }

        @Override
        public DynamicTableSink copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "counting";
        }
    }

    /** Counts. */
    private static class Count implements SinkFunction<RowData> {
        private final String table;
        private transient LongAdder count;

        Count(String table) {
            this.table = table;
        }

        @Override
        public void invoke(RowData row, Context context) {
            if (count == null) {
                count = Counts.of(table);
            }
            count.increment();
        }
    }
}
