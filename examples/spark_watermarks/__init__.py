"""What Spark really does with watermarks, proved claim by claim on a real Spark: docs/spark-watermarks.md.

    python -m examples.spark_watermarks [claim ...]

`sides` feeds the same rows to Spark and to Tidemark, `job` runs a query and looks at it. `loss`, `silence`, `runs` and
`columns` hold the proofs, `claims` the page's text about each.
"""
