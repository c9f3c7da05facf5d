-- calls, strings and a sort
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 200000 do words[i] = tostring((i * 7919) % 100003) end
table.sort(words)
print(fib(27), words[1], words[#words], #table.concat(words))
