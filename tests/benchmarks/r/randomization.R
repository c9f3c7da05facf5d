# The randomization test as published, as a plain loop: pool, shuffle each benchmark, ratio of
# geometric means. Reads a matrix of pooled runs (a row for each benchmark, the first half of the
# columns is one side) and writes the seconds that the loop took and the two-sided p-value.
#
#   Rscript randomization.R POOL.csv RESAMPLES SEED

arguments <- commandArgs(trailingOnly = TRUE)
pool <- as.matrix(read.csv(arguments[1], header = FALSE))
resamples <- as.integer(arguments[2])
set.seed(as.integer(arguments[3]))
n <- nrow(pool)
m <- ncol(pool) / 2

ratio <- function(a, b) exp(mean(log(a))) / exp(mean(log(b)))

observed <- ratio(pool[, 1:m], pool[, (m + 1):(2 * m)])
a <- matrix(0, n, m)
b <- matrix(0, n, m)
null <- numeric(resamples)
start <- Sys.time()
for (k in 1:resamples) {
  for (i in 1:n) {
    shuffled <- sample(pool[i, ])
    a[i, ] <- shuffled[1:m]
    b[i, ] <- shuffled[(m + 1):(2 * m)]
  }
  null[k] <- ratio(a, b)
}
seconds <- as.numeric(difftime(Sys.time(), start, units = "secs"))
above <- (sum(null >= observed) + 1) / (resamples + 1)
below <- (sum(null <= observed) + 1) / (resamples + 1)
cat(sprintf("%.9f %.9f\n", seconds, min(1, 2 * min(above, below))))
