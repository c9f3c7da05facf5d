# Draws samples_345.csv, of three to five metrics (a line: name, then the runs row by row):
#
#   Rscript draw.R samples_345.csv; Rscript record.R samples_345.csv recorded_345.json
set.seed(20261124)
line <- function(i) {
  d <- 3 + i %% 3
  n <- c(24, 40, 60, 90)[1 + (i %/% 3) %% 4]
  kinds <- c("free", "axes", "spheres", "tails")
  kind <- kinds[1 + (i %/% 12) %% 4]
  k <- 1 + (i %/% 2) %% 3
  of <- rep_len(seq_len(k), n)
  x <- matrix(if (kind == "tails") rt(n * d, 4) else rnorm(n * d), n, d)
  for (c in seq_len(k)) {
    turn <- switch(kind, axes = diag(exp(rnorm(d) / 2)), spheres = diag(d) * c, matrix(rnorm(d * d), d))
    x[of == c, ] <- sweep(x[of == c, , drop = FALSE] %*% turn, 2, 3 * rnorm(d), "+")
  }
  paste(c(sprintf("d%d-%s-%d-%d", d, kind, n, i), sprintf("%.4f", t(x))), collapse = ",")
}
writeLines(vapply(0:47, line, ""), commandArgs(trailingOnly = TRUE)[1])
