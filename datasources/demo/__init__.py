"""`tidemark demo`: one windowed count of one lagging topic, with Spark's watermark and with Tidemark's."""
