# Records what mclust makes of samples.csv (a line: name, then x and y by turns), as recorded.json,
# and of samples of more metrics, which draw.R drew (the name begins with d and their number):
#
#   Rscript record.R samples.csv recorded.json
#   Rscript record.R samples_345.csv recorded_345.json
#
# `classes` are the starts for two to nine classes, a digit a point. The sample "large" is not in
# the file: 2,100 pairs by formula, started from 2,000 of them, evenly spaced in the order of x.
suppressMessages(library(mclust))
arguments <- commandArgs(trailingOnly = TRUE)
number <- function(v) ifelse(is.na(v), "null", sprintf("%.17g", v))
list_of <- function(v) paste0("[", paste(number(as.numeric(v)), collapse = ", "), "]")
record <- function(name, x, ...) {
  fit <- suppressWarnings(Mclust(x, verbose = FALSE, warn = FALSE, ...))
  most <- nrow(fit$BIC)
  rows <- vapply(colnames(fit$BIC), function(model) {
    paste0("    \"", model, "\": ", list_of(fit$BIC[, model]))
  }, "")
  started <- if (nrow(x) > 2000) "" else {
    classes <- hclass(hc(x, modelName = "VVV", use = "SVD"), 2:most)
    paste0("\"", apply(classes - 1, 2, paste, collapse = ""), "\"", collapse = ", ")
  }
  paste0(
    "  \"", name, "\": {\n    \"bic\": {\n", paste(rows, collapse = ",\n"), "\n    },\n",
    "    \"classes\": [", started, "],\n",
    "    \"model\": \"", fit$modelName, "\", \"log_likelihood\": ", number(fit$loglik), ",\n",
    "    \"weights\": ", list_of(fit$parameters$pro), ",\n",
    "    \"means\": ", list_of(fit$parameters$mean), ",\n",
    "    \"covariances\": ", list_of(fit$parameters$variance$sigma), ",\n",
    "    \"members\": \"", if (nrow(x) > 2000) "" else paste(fit$classification - 1, collapse = ""), "\"\n  }"
  )
}
parts <- vapply(strsplit(readLines(arguments[1]), ","), function(words) {
  metrics <- if (grepl("^d[3-9]-", words[1])) as.integer(substr(words[1], 2, 2)) else 2
  record(words[1], matrix(as.numeric(words[-1]), ncol = metrics, byrow = TRUE))
}, "")
if (!any(grepl("345", arguments[1]))) {
  i <- 1:2100
  u <- (i * 0.6180339887498949) %% 1
  v <- (i * 0.4142135623730950) %% 1
  x <- cbind(u + 2 * (v > 0.7), v + 0.5 * u)
  ranks <- round(seq(0, 2099, length.out = 2000)) + 1
  subset <- sort(order(x[, 1], x[, 2])[ranks])
  parts <- c(parts, record("large", x, initialization = list(subset = subset)))
}
writeLines(c("{", paste(parts, collapse = ",\n"), "}"), arguments[2])
