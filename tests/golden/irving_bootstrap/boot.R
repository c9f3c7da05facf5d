# Percentile and BCa ends by the package boot: Rscript boot.R > boot.json
library(boot)
a <- list(c(1.02, 0.97, 1.01, 0.99, 1.05), c(40.1, 41.7, 39.2, 40.0, 40.6),
          c(3.0, 3.1, 3.05, 2.9, 3.02))
b <- list(c(1.22, 1.27, 1.24, 2.51, 1.21), c(47.0, 45.5, 46.3, 79.9, 46.0),
          c(3.6, 3.65, 3.7, 3.8, 8.9))
rows <- c(a, b)
logs <- log(unlist(rows))
stratum <- factor(rep(seq_along(rows), lengths(rows)))
ratio <- function(data, i) {
  means <- tapply(data[i], stratum[i], mean)
  exp((sum(means[4:6]) - sum(means[1:3])) / 3)
}
set.seed(20261121)
resamples <- 200000
drawn <- boot(logs, ratio, R = resamples, strata = stratum)
influence <- empinf(drawn, type = "jack")
ends <- boot.ci(drawn, type = c("perc", "bca"), L = influence)
cat(sprintf('{"ratio": %.12f, "percentile": [%.6f, %.6f], "bca": [%.6f, %.6f]}\n', drawn$t0,
            ends$percent[4], ends$percent[5], ends$bca[4], ends$bca[5]))
