-- 50,000 rows with an index; then the statements of the benchmarks
create table t(id integer primary key, k int, v text);
create index by_k on t(k);
with recursive s(i) as (select 1 union all select i + 1 from s where i < 50000)
  insert into t select i, (i * 7919) % 10007, hex(i * 104729) from s;

.once small.sql
with recursive s(i) as (select 1 union all select i + 1 from s where i < 200)
  select printf('begin; update t set k = k + 1 where id = %d; insert into t(k, v) values(%d, ''x%d''); commit;', i * 97, i, i) from s
  union all select 'select printf(''rows %d'', count(*)) from t;';

.once bulk.sql
select 'begin; insert into t(k, v) select k + 1, v || ''y'' from t; commit; select printf(''rows %d'', count(*)) from t;';

.once read.sql
with recursive s(i) as (select 1 union all select i + 1 from s where i < 300)
  select printf('select count(*), max(v) from t where k between %d and %d;', i * 30, i * 30 + 60) from s
  union all select 'select printf(''rows %d'', count(*)) from t;';
