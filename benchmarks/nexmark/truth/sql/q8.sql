WITH persons AS (
  SELECT DISTINCT id, name, epoch_ms("dateTime") // 10000 AS ten FROM person
), sellers AS (
  SELECT DISTINCT seller, epoch_ms("dateTime") // 10000 AS ten FROM auction
)
SELECT P.id, P.name, make_timestamp_ms(P.ten * 10000) AS stime
FROM persons AS P JOIN sellers AS A ON P.id = A.seller AND P.ten = A.ten
WHERE make_timestamp_ms((P.ten + 1) * 10000) <= getvariable('until')
