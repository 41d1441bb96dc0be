"""The main job: one windowed count on one lagging topic, with Spark's watermark and with Tidemark's."""
