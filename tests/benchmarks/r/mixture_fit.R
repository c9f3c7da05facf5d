# Serves tests/benchmarks/mixture_fit.py and mixture_metrics.py: waits for requests on stdin and
# answers on stdout.
#
# "time FILE": fits every sample of the file (a line: comma-separated values) by mclustBIC and
# answers with the seconds that each took, warm. "tables FILE": answers with the 18 BICs of each.
# "time FILE D" and "tables FILE D" do so with samples of D metrics (row by row): 126 candidates.
suppressMessages(library(mclust))
input <- file("stdin", "r")
fit <- function(x) {
  if (is.matrix(x)) suppressWarnings(mclustBIC(x, G = 1:9, verbose = FALSE))
  else mclustBIC(x, G = 1:9, modelNames = c("E", "V"), verbose = FALSE)
}
while (length(line <- readLines(input, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  samples <- lapply(strsplit(readLines(words[2]), ","), as.numeric)
  if (length(words) > 2) samples <- lapply(samples, matrix, ncol = as.integer(words[3]), byrow = TRUE)
  answer <- if (words[1] == "time") {
    vapply(samples, function(x) {
      start <- Sys.time()
      fit(x)
      as.numeric(Sys.time() - start, units = "secs")
    }, 0)
  } else {
    unlist(lapply(samples, function(x) as.vector(fit(x)[, ])))
  }
  cat(paste(ifelse(is.na(answer), "nan", sprintf("%.17g", answer)), collapse = " "), "\n", sep = "")
  flush(stdout())
}
