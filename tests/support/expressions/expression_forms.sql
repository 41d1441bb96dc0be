ts
ntz
st.t
st.in.t
`ST`.`N`
ts - INTERVAL '5' SECOND
ts - INTERVAL 5 SECONDS
ts + INTERVAL '0.001' SECOND
ts - INTERVAL '01:30' MINUTE TO SECOND
ts - INTERVAL '02:03:04.5' HOUR TO SECOND
ts - INTERVAL '90' MINUTE
ts - INTERVAL 1 HOUR 2 MINUTES
ts - INTERVAL '5 minutes 30 seconds'
ts - INTERVAL '-5' SECOND
ts - INTERVAL -'01:30' MINUTE TO SECOND
ts - INTERVAL 250 MILLISECONDS - INTERVAL 7 MICROSECONDS
INTERVAL '5' SECOND + ts
ts - 3 * INTERVAL '1' SECOND
ts - i * INTERVAL '1' SECOND
ntz - CAST(f AS INT) * IF(fm, INTERVAL '5' SECOND, NULL)
ntz - IF(fm, INTERVAL '5' SECOND, NULL) * CAST(f AS INT)
ts - INTERVAL '1' SECOND * k
ts - (INTERVAL '1' MINUTE + INTERVAL '1' SECOND)
ts - (-INTERVAL '1' MINUTE)
ts - CASE WHEN fl THEN INTERVAL '5' SECOND ELSE INTERVAL '1' MINUTE END
ts - IF(fm, INTERVAL '5' SECOND, NULL)
ts - INTERVAL '1' DAY
ts - INTERVAL '25' HOUR
ts - INTERVAL '1 02:03:04.5' DAY TO SECOND
ts + INTERVAL '2' WEEK
ntz - INTERVAL '5' SECOND
ntz - INTERVAL '1' DAY
ntz - INTERVAL '25' HOUR
ntz + INTERVAL 1 DAY 2 HOURS
ntz - i * INTERVAL '1' HOUR
ntz - ntz2
ntz - ntz2 > INTERVAL '1' HOUR
ts - ts2
ts - ts2 < INTERVAL '1' HOUR
st.t - INTERVAL '5' SECOND
date_trunc('MICROSECOND', ts)
date_trunc('millisecond', ts)
date_trunc('SECOND', ts)
date_trunc('MINUTE', ts)
date_trunc('HOUR', ts)
date_trunc('DAY', ts)
date_trunc('dd', ts)
date_trunc('WEEK', ts)
date_trunc('MONTH', ts)
date_trunc('QUARTER', ts)
date_trunc('YEAR', ts)
to_timestamp(s)
to_timestamp(s2)
try_to_timestamp(s)
try_to_timestamp(s2)
to_timestamp_ntz(s)
to_timestamp_ntz(s2)
to_timestamp(ts)
CAST(s AS TIMESTAMP)
CAST(s2 AS TIMESTAMP)
TRY_CAST(s AS TIMESTAMP)
TRY_CAST(s2 AS TIMESTAMP)
CAST(s AS TIMESTAMP_NTZ)
TRY_CAST(s2 AS TIMESTAMP_NTZ)
to_timestamp(concat(s2, 'Z'))
timestamp(s2)
CAST(ts AS TIMESTAMP_NTZ)
CAST(ntz AS TIMESTAMP)
CAST(ts AS DATE)
CAST(ntz AS DATE)
CAST(day AS TIMESTAMP)
CAST(day AS TIMESTAMP_NTZ)
CAST(ts AS BIGINT)
CAST(ts AS INT)
TRY_CAST(ts AS INT)
CAST(ts AS DOUBLE)
CAST(b AS TIMESTAMP)
CAST(i AS TIMESTAMP)
timestamp_seconds(i)
timestamp_seconds(b)
timestamp_millis(b)
timestamp_millis(i)
timestamp_micros(b)
timestamp_millis(b) - INTERVAL '5' SECOND
unix_seconds(ts)
unix_millis(ts)
unix_micros(ts)
unix_millis(ts) - 5000
hour(ts)
minute(ts)
second(ts)
hour(ntz)
minute(ntz)
second(ntz)
TIMESTAMP '2026-03-08 12:30:00Z'
TIMESTAMP '2026-03-08 02:30:00'
TIMESTAMP_NTZ '2026-03-08 02:30:00.5'
DATE '2026-03-08'
ts > TIMESTAMP '2026-01-01 00:00:00+02:00'
ntz >= TIMESTAMP_NTZ '2026-01-01 00:00:00'
day < DATE '2000-01-01'
ts BETWEEN TIMESTAMP '1960-01-01 00:00:00Z' AND TIMESTAMP '2030-01-01 00:00:00Z'
CASE WHEN fl THEN ts END
CASE WHEN fl THEN ts ELSE ts2 END
CASE WHEN fl THEN ts WHEN fm THEN ts2 ELSE NULL END
CASE i WHEN 7 THEN ts WHEN -7 THEN ts2 END
CASE WHEN fl THEN i ELSE b END
CASE WHEN c <> 0 THEN b div c END
IF(fl, ts, ts2)
IF(c = 0, NULL, b % c)
coalesce(ts2, ts)
coalesce(ts2, timestamp_millis(0))
coalesce(NULL, i, b)
coalesce(i, i div 0)
ifnull(ts2, ts)
nvl(i, k)
nvl2(i, k, b)
nullif(i, 7)
nullif(ts, ts2)
greatest(ts, ts2)
least(ts, ts2, NULL)
greatest(i, 3)
greatest(f, g)
least(f, g, 0D)
greatest(str, 'b')
least(d, d)
i + k
i - k
i * k
b + c
b - c
b * c
b * 1000
i + 1
i * 2L
y + y
y * h
h - y
i + b
-i
-b
-y
-f
-d
abs(i)
abs(b)
abs(f)
isnan(f)
isnan(f) OR f > 1
CASE WHEN isnan(f) THEN 0 WHEN f <= -2147483648 THEN -2147483648 WHEN f >= 2147483647 THEN 2147483647 ELSE CAST(f AS INT) END
b div c
i div k
b div 1000
i % k
b % c
mod(i, 3)
y % h
b / c
i / 2
f / g
f + g
f - g
f * g
f * 2
i + 1D
r + r
r * r
d + e
d - e
d * e
d + 1
d * 2
d + i
d + b
d * 1.5
d + 0.05
f + d
e * e * e
CAST(d AS INT)
CAST(d AS BIGINT)
CAST(d AS TINYINT)
CAST(d AS DOUBLE)
CAST(d AS DECIMAL(4,2))
CAST(d AS DECIMAL(20,5))
TRY_CAST(d AS DECIMAL(4,2))
CAST(i AS DECIMAL(12,2))
CAST(b AS DECIMAL(10,0))
CAST(f AS INT)
CAST(f AS BIGINT)
TRY_CAST(f AS BIGINT)
CAST(f AS SMALLINT)
CAST(r AS INT)
CAST(r AS BIGINT)
CAST(r AS DOUBLE)
CAST(b AS INT)
TRY_CAST(b AS INT)
CAST(b AS TINYINT)
CAST(i AS SMALLINT)
CAST(y AS BIGINT)
CAST(b AS DOUBLE)
CAST(b AS FLOAT)
CAST(i AS STRING)
CAST(b AS STRING)
CAST(fl AS STRING)
CAST(num AS INT)
CAST(num AS BIGINT)
TRY_CAST(num AS INT)
TRY_CAST(num AS BIGINT)
CAST(num AS TINYINT)
bigint(num)
int(f)
b::double
CAST(b / 1000 AS BIGINT)
timestamp_seconds(TRY_CAST(get_json_object(j, '$.t') AS BIGINT))
i = 7 AND fl
i = 7 OR fl
fl AND fm
fl OR fm
NOT fl
NOT i = 7
! fl
fl AND b div c > 0
c = 0 OR b div c > 0
fl AND fm OR fl
i <=> NULL
i <=> k
ts <=> ts2
f <=> g
i IS NULL
i IS NOT NULL
isnull(i)
isnotnull(i)
i BETWEEN 0 AND 10
i NOT BETWEEN 0 AND 10
i IN (1, 7, -7)
i IN (1, NULL)
i NOT IN (1, NULL)
str IN ('x', '')
b IN (1, 2)
i = b
i <> k
i < 3
i >= b
f > 1
f = g
f >= g
f <> g
f < double(1)
b = f
d > 1
d = e
d < f
d >= 0.005
str = 'x'
str > 'abc'
str > 'a\u0041\101'
str > '\0\Z\%\_\d\''
str > '\U0001F600\ud83d\ude00'
fl = fm
fl < fm
str LIKE 'a%'
str LIKE '%_-%'
str NOT LIKE '%x'
str RLIKE '^a'
str RLIKE '[0-9]+-'
str RLIKE 'e$'
str RLIKE 'd.l'
rlike(str, 'x')
regexp_extract(str, '([a-z]+)-([0-9]+)', 2)
regexp_extract(str, '([0-9]+)')
regexp_extract(str, '(x)|(y)', 2)
regexp_extract(str, r'(\w)\d', 1)
regexp_extract(str, '^.*?(\\s+|[,b])', 1)
regexp_extract(str, '[a-c]{1,2}', 0)
regexp_extract(str, '(?:a|l)(.*)$', 1)
substring(str, 1, 3)
substring(str, -3, 2)
substring(str, -9, 8)
substr(str, 2)
substring(str, 3, 0)
upper(str)
lower(str)
trim(str)
ltrim(str)
rtrim(str)
length(str)
char_length(s)
concat(str, 'x', num)
concat(str, NULL::STRING)
str || '-' || num
split_part(str, '-', 2)
split_part(str, ',', -1)
split_part(str, 'b', 9)
get_json_object(j, '$.a.b')
get_json_object(j, '$.t')
get_json_object(j, '$.zz')
CAST(get_json_object(j, '$.t') AS BIGINT)
TRY_CAST(get_json_object(j, '$.t') AS BIGINT)
to_timestamp(get_json_object(j, '$.t'))
-2147483648
- 2147483648
-9223372036854775808
2147483648
1.50
.5
1e3
12S
'it\'s'
"dq"
r'a\b'
'a\\nb\tc\%'
TRUE
coalesce(NULL, 'x')
1 + 2 * 3 - 4 % 3
2 - -3
i + k * 2
(i + k) * 2
i - k - 1
i - (k - 1)
