package tidemark.nexmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.LookupFunction;

/** The side input of q13: lines `number,text`, read once by each task, in which keys are looked up. */
public class SideInputFactory implements DynamicTableSourceFactory {
    private static final ConfigOption<String> PATH = ConfigOptions.key("path").stringType().noDefaultValue();

    @Override
    public String factoryIdentifier() {
        return "side-input";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(PATH);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(DynamicTableFactory.Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        return new SideInput(helper.getOptions().get(PATH));
    }

    private record SideInput(String path) implements LookupTableSource {
        @Override
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            return LookupFunctionProvider.of(new Lookup(path));
        }

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "side input";
        }
    }

    /** Looks a number up. */
    public static class Lookup extends LookupFunction {
        private final String path;
        private transient Map<Long, Collection<RowData>> rows;

        public Lookup(String path) {
            this.path = path;
        }

        @Override
        public void open(FunctionContext context) {
            rows = new HashMap<>();
            try {
                for (String line : Files.readAllLines(Path.of(path))) {
                    int comma = line.indexOf(',');
                    long key = Long.parseLong(line.substring(0, comma));
                    StringData value = StringData.fromString(line.substring(comma + 1));
                    rows.put(key, List.of(GenericRowData.of(key, value)));
                }
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public Collection<RowData> lookup(RowData key) {
            return rows.getOrDefault(key.getLong(0), List.of());
        }
    }
}
