"""What a query needs of its sources, and sources that deliver only that.

* ``needed_columns`` finds the columns, the fields of STRUCTs and the rows that are needed of each source in a plan.
* ``narrowed_source`` loads a source again to deliver them.
* ``projection_pushdown`` replaces the sources in the plan.
"""
