# The bootstrap of the ratio of geometric means as a plain loop: draw runs within each benchmark and
# side, again and again. The logarithms are taken once, before the clock starts.
#   Rscript bootstrap.R FILE_A FILE_B RESAMPLES    prints seconds, low, high
args <- commandArgs(trailingOnly = TRUE)
a <- log(as.matrix(read.csv(args[1], header = FALSE)))
b <- log(as.matrix(read.csv(args[2], header = FALSE)))
resamples <- as.integer(args[3])
n <- nrow(a)
m <- ncol(a)
set.seed(1)
plain <- function() {
  ratio <- numeric(resamples)
  for (r in seq_len(resamples)) {
    total <- 0
    for (i in seq_len(n)) {
      total <- total + mean(sample(b[i, ], m, replace = TRUE)) -
        mean(sample(a[i, ], m, replace = TRUE))
    }
    ratio[r] <- exp(total / n)
  }
  quantile(ratio, c(0.025, 0.975), names = FALSE)
}
invisible(compiler::cmpfun(plain))
time <- system.time(ends <- plain())[["elapsed"]]
cat(sprintf("%.6f %.10f %.10f\n", time, ends[1], ends[2]))
