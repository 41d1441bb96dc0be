package com.github.nexmark.flink.udf;

import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.ScalarFunction;

/** The function `count_char` of q14: how often a text has a character of one byte. */
public class CountChar extends ScalarFunction {
    public long eval(@DataTypeHint("STRING") StringData text, @DataTypeHint("STRING") StringData character) {
        if (text == null) {
            return 0;
        }
        byte wanted = character.toBytes()[0];
        long count = 0;
        for (byte each : text.toBytes()) {
            count += each == wanted ? 1 : 0;
        }
        return count;
    }
}
