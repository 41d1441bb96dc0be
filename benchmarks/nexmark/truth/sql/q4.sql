-- Flink's AVG of integers is an integer, cut off.
WITH winning AS (
  SELECT A.id, A.category, max(B.price) AS final
  FROM auction AS A JOIN bid AS B ON A.id = B.auction AND B."dateTime" BETWEEN A."dateTime" AND A.expires
  GROUP BY A.id, A.category
)
SELECT category, CAST(sum(final) // count(*) AS BIGINT) AS final FROM winning GROUP BY category
