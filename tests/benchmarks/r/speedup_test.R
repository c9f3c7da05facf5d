# The Speedup-Test with the search for the highest level, in R: each p-value once for a pair, then
# 49 levels by comparing vectors. Times itself; start-up and reading are not counted.
#
#   Rscript --vanilla speedup_test.R SAMPLES N M
#
# SAMPLES holds, for each pair, N times of the baseline and M of the candidate, in binary doubles.
# Prints the seconds, then the best level of mean and median (hundredths, 0: none) of each pair.

args <- commandArgs(trailingOnly = TRUE)
n <- as.integer(args[2])
m <- as.integer(args[3])
values <- readBin(args[1], "double", file.size(args[1]) / 8)
rows <- matrix(values, nrow = n + m)
levels <- 99:51
risks <- (100 - levels) / 100

best <- function(holds, p) {
  found <- which(holds & p <= risks + 1e-12)
  if (length(found)) levels[found[1]] else 0L
}

judge <- function(x, y) {
  mean_holds <- rep(TRUE, length(risks))
  if (n <= 30) mean_holds <- mean_holds & shapiro.test(x)$p.value > risks
  if (m <= 30) mean_holds <- mean_holds & shapiro.test(y)$p.value > risks
  pooled <- t.test(x, y, alternative = "greater", var.equal = TRUE)$p.value
  welch <- t.test(x, y, alternative = "greater")$p.value
  p_mean <- ifelse(var.test(x, y)$p.value > risks, pooled, welch)
  a <- x - median(x)
  b <- y - median(y)
  grid <- 1e-10 * max(abs(a), abs(b))
  shape <- ks.test(round(a / grid), round(b / grid))$p.value
  median_holds <- if (n > 30 && m > 30) rep(TRUE, length(risks)) else shape > risks
  p_median <- wilcox.test(x, y, alternative = "greater")$p.value
  c(
    best(mean_holds, p_mean), best(median_holds, p_median),
    min(x) / min(y), mean(x) / mean(y), median(x) / median(y)
  )
}

start <- proc.time()[["elapsed"]]
done <- suppressWarnings(vapply(
  seq_len(ncol(rows)),
  function(k) judge(rows[seq_len(n), k], rows[n + seq_len(m), k]),
  numeric(5)
))
seconds <- proc.time()[["elapsed"]] - start
cat(seconds, "\n")
cat(done[1, ], "\n")
cat(done[2, ], "\n")
