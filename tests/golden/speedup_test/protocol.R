# Both protocols of the Speedup-Test by base R (4.2.2), pair by pair: every statistic and p, decisions at
# two levels, and the best levels (in hundredths) of the scan from 0.99 down to 0.51.
#
#   Rscript --vanilla protocol.R SAMPLES RESULTS
#
# SAMPLES: one sample a line, baseline then candidate, hexadecimal numbers. RESULTS: names, then a line for
# each pair; NA where R refuses or the protocol cannot conclude.

args <- commandArgs(trailingOnly = TRUE)
samples <- lapply(strsplit(readLines(args[1]), " "), as.numeric)

refused <- list(statistic = NA_real_, p.value = NA_real_)
attempt <- function(test) {
  done <- tryCatch(suppressWarnings(test), error = function(e) refused)
  unname(c(done$statistic, done$p.value))
}

every <- function(x, y) {
  a <- x - median(x)
  b <- y - median(y)
  largest <- max(abs(c(a, b)))
  if (largest > 0) {
    a <- round(a / largest * 1e10)
    b <- round(b / largest * 1e10)
  }
  c(
    shapiro_x = attempt(shapiro.test(x)), shapiro_y = attempt(shapiro.test(y)),
    f = attempt(var.test(x, y)),
    student = attempt(t.test(x, y, alternative = "greater", var.equal = TRUE)),
    welch = attempt(t.test(x, y, alternative = "greater")),
    ks = attempt(ks.test(a, b)),
    wilcoxon = attempt(wilcox.test(x, y, alternative = "greater"))
  )
}

mean_at <- function(v, n, m, risk) {
  if (n <= 30 && !isTRUE(v[["shapiro_x2"]] > risk)) return(NA)
  if (m <= 30 && !isTRUE(v[["shapiro_y2"]] > risk)) return(NA)
  v[[if (isTRUE(v[["f2"]] > risk)) "student2" else "welch2"]] <= risk + 1e-12
}

median_at <- function(v, n, m, risk) {
  if ((n <= 30 || m <= 30) && !(v[["ks2"]] > risk)) return(NA)
  v[["wilcoxon2"]] <= risk + 1e-12
}

best <- function(at, v, n, m) {
  for (level in 99:51) if (isTRUE(at(v, n, m, (100 - level) / 100))) return(level)
  NA
}

results <- lapply(seq(1, length(samples), 2), function(i) {
  x <- samples[[i]]
  y <- samples[[i + 1]]
  n <- length(x)
  m <- length(y)
  v <- every(x, y)
  c(v,
    mean_95 = mean_at(v, n, m, 0.05), mean_70 = mean_at(v, n, m, 0.3),
    median_95 = median_at(v, n, m, 0.05), median_70 = median_at(v, n, m, 0.3),
    best_mean = best(mean_at, v, n, m), best_median = best(median_at, v, n, m)
  )
})
writeLines(c(
  paste(names(results[[1]]), collapse = " "),
  vapply(results, function(row) paste(sprintf("%.17g", row), collapse = " "), "")
), args[2])
