# Serves tests/benchmarks/mixture_ks_fit.py: waits for requests on stdin and answers on stdout.
#
# "test FILE RESAMPLES SEED": fits the values of the file (comma-separated, one line), draws samples
# from the fit, fits each anew (K and model chosen by BIC) and takes its distance. Answers with the
# seconds of the loop over the samples, the distance, and the share of larger ones.
suppressMessages(library(mclust))
input <- file("stdin", "r")
fit <- function(x) Mclust(x, G = 1:9, modelNames = c("E", "V"), verbose = FALSE)$parameters
spread <- function(p) sqrt(rep_len(p$variance$sigmasq, length(p$mean)))
distance <- function(x, p) {
  x <- sort(x)
  n <- length(x)
  below <- numeric(n)
  sds <- spread(p)
  for (k in seq_along(p$mean)) below <- below + p$pro[k] * pnorm(x, p$mean[k], sds[k])
  max(seq_len(n) / n - below, below - (seq_len(n) - 1) / n)
}
draw <- function(n, p) {
  k <- sample.int(length(p$mean), n, replace = TRUE, prob = p$pro)
  rnorm(n, p$mean[k], spread(p)[k])
}
while (length(line <- readLines(input, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  x <- as.numeric(strsplit(readLines(words[2]), ",")[[1]])
  set.seed(as.integer(words[4]))
  p <- fit(x)
  if (is.null(p$pro)) p$pro <- 1
  start <- Sys.time()
  found <- vapply(seq_len(as.integer(words[3])), function(i) {
    y <- draw(length(x), p)
    q <- fit(y)
    if (is.null(q$pro)) q$pro <- 1
    distance(y, q)
  }, 0)
  seconds <- as.numeric(Sys.time() - start, units = "secs")
  cat(sprintf("%.9f %.17g %.6f\n", seconds, distance(x, p), mean(found > distance(x, p))))
  flush(stdout())
}
