// Records through JSON, sorted and summed, N times in one process: the time of each on a line of its own.
const times = Number(process.argv[2]);
const records = Array.from({length: 20000}, (_, i) => ({id: (i * 7919) % 20011, name: 'n' + (i % 97), tags: [i % 3, i % 5]}));
for (let k = 0; k < times; k++) {
  const began = process.hrtime.bigint();
  const copy = JSON.parse(JSON.stringify(records)).sort((a, b) => a.id - b.id).filter(r => r.tags[0] !== 1);
  const sums = new Map();
  for (const r of copy) sums.set(r.name, (sums.get(r.name) || 0) + r.id);
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  console.log(`iteration ${ms} ms, ${sums.size} names`);
}
