# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The package against closed forms, and against the same computed by R itself.
library(mercer)
near <- function(a, b, tolerance = 1e-9) stopifnot(all(dim(a) == dim(b)), max(abs(a - b)) <= tolerance)
refusal <- function(code) tryCatch({
  code
  stop("not refused")
}, mercer_error = function(error) error)
said <- function(code) tryCatch({
  code
  "nothing was said"
}, error = conditionMessage)

set.seed(1)
n <- 200
data <- data.frame(a = runif(n), b = rnorm(n), kind = factor(sample(c("low", "Up", "mid"), n, TRUE), c("low", "mid", "Up")),
                   on = sample(c(TRUE, FALSE), n, TRUE))
data$y <- sin(4 * data$a) + data$b * (data$kind == "mid") + data$on + rnorm(n, sd = 0.1)

# Kernels and maps: closed forms.
x <- as.matrix(data[c("a", "b")])
K <- exp(-as.matrix(dist(x))^2 / (2 * 0.7^2))
gaussian <- list(kernel = "gaussian", lengthscale = 0.7)
near(mercer_kernel(x, spec = gaussian), K, 1e-12)
near(mercer_kernel(x, x[1:3, ], list(kernel = "laplacian", lengthscale = 2)), exp(-as.matrix(dist(x, "manhattan"))[, 1:3] / 2), 1e-12)
Z <- mercer_features(x, list(kernel = gaussian), D = 4096, seed = 3)
near(tcrossprod(Z), K, 6 * sqrt(1.5 / 4096))  # six standard deviations
stopifnot(identical(Z, mercer_features(x, list(kernel = gaussian, features = 4096, seed = 3))), attr(Z, "spec")$map == "fourier")
stopifnot(is.complex(mercer_features(x, list(map = "fourier", kernel = gaussian, form = "complex"), D = 8)))
nystroem <- mercer_features(x, list(map = "nystroem", kernel = gaussian), D = n, rows = x)
near(tcrossprod(nystroem), K, 1e-5)  # of all rows the kernel itself

# Ridge on given features: the normal equations solved by R.
map <- list(map = "fourier", kernel = list(kernel = "gaussian", lengthscale = 1), projection = "dense", features = 64, seed = 5)
fit <- mercer(x, data$y, search = FALSE, map = map, lambda = 1e-3, precision = "f64")
prepared <- predict(fit, x, "prepared")
near(prepared, scale(x) / sqrt(1 - 1 / n), 1e-9)
Z <- mercer_features(prepared, c(map, inputs = 2))
centred <- scale(Z, scale = FALSE)
w <- solve(crossprod(centred) + n * 1e-3 * diag(ncol(Z)), crossprod(centred, data$y - mean(data$y)))
near(predict(fit, x), drop(mean(data$y) + centred %*% w), 1e-7)
moved <- function(step) predict(fit, cbind(x[, 1] + step, x[, 2]), extrapolation = "free")
near(predict(fit, x, "gradient")[, 1], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-4)

# Formulas: the columns that model.matrix gives, whatever the order of levels; other doors give the same.
fit <- mercer(y ~ ., data, search = FALSE, lengthscale = 1, map = list(features = 128))
columns <- cbind(a = data$a, b = data$b, kindUp = data$kind == "Up", kindlow = data$kind == "low", kindmid = data$kind == "mid", onFALSE = !data$on,
                 onTRUE = data$on)
stopifnot(identical(fit$encoder$columns, colnames(columns)))
by_hand <- mercer(columns, data$y, search = FALSE, lengthscale = 1, map = list(features = 128))
near(predict(fit, data), predict(by_hand, columns), 0)
near(predict(by_hand, columns[, 7:1]), predict(by_hand, columns), 0)
near(predict(mercer(data[1:4], data$y, search = FALSE, lengthscale = 1, map = list(features = 128)), data), predict(fit, data), 0)
texts <- transform(data, kind = as.character(kind))
near(predict(fit, texts[5:1, ]), predict(fit, data)[5:1], 1e-12)
near(predict(mercer(y ~ ., texts, search = FALSE, lengthscale = 1, map = list(features = 128)), data), predict(fit, data), 0)
near(fitted(fit) + residuals(fit), data$y, 1e-12)
stopifnot(cor(fitted(fit), data$y) > 0.98, grepl("new level", said(predict(fit, transform(data[1:2, ], kind = "none")))))
transformed <- mercer(log(y + 5) ~ poly(b, 2) + a:on, data, search = FALSE, map = list(features = 32))
near(predict(transformed, data[3, ]), predict(transformed, data)[3], 1e-12)
stopifnot(grepl("offset", said(mercer(y ~ a + offset(b), data))), grepl("at least one", said(mercer(y ~ 1, data))))

# Missing values: left out and missing, or filled in by the library.
gaps <- data
gaps$b[4] <- NA
gaps$kind[9] <- NA
left_out <- mercer(y ~ ., gaps, search = FALSE, lengthscale = 1, map = list(features = 128), na.action = na.exclude)
stopifnot(identical(which(is.na(predict(left_out, gaps))), c(`4` = 4L, `9` = 9L)), length(fitted(left_out)) == n, left_out$shape[["rows"]] == n - 2)
near(predict(mercer(y ~ ., gaps[-c(4, 9), ], search = FALSE, lengthscale = 1, map = list(features = 128)), data), predict(left_out, data), 0)
filled <- mercer(y ~ a + b, gaps, search = FALSE, map = list(features = 32), na.action = na.pass, prepare = list(missing = "fill"))
median_filled <- replace(gaps$b, 4, median(gaps$b, na.rm = TRUE))
near(predict(filled, gaps)[4], predict(filled, transform(gaps, b = median_filled))[4], 1e-9)
stopifnot(grepl("missing values", said(mercer(y ~ ., gaps, na.action = na.fail))),
          refusal(mercer(y ~ a + b, gaps, search = FALSE, na.action = na.pass))$fields$row == 3)

# Columns by their names; what is not there is not looked for elsewhere; infinite numbers are said.
warned <- function(code) tryCatch({
  code
  "nothing was said"
}, warning = conditionMessage)
a <- data$a
scaling <- 2
scaled <- mercer(y ~ I(scaling * a) + b, data, search = FALSE, map = list(features = 32))
near(predict(scaled, data[1:3, ]), predict(scaled, data)[1:3], 1e-12)
named <- mercer(x, data$y, search = FALSE, map = list(features = 32))
stopifnot(grepl("newdata has no a, kind, on, expected a, b", said(predict(fit, data["b"]))), grepl("without names of columns", said(predict(fit, unname(x)))),
          grepl("no column b, expected a, b", said(predict(named, cbind(a = 1, c = 2)))), grepl("in the order of the fit: a, b", warned(predict(named, unname(x)))),
          grepl("infinite numbers in b", warned(predict(named, cbind(a = 1, b = c(2, Inf))))))
near(suppressWarnings(predict(named, unname(x))), predict(named, x), 0)

# What R asks of a model, and keys in short.
stopifnot(nobs(left_out) == n - 2, identical(attr(terms(fit), "term.labels"), c("a", "b", "kind", "on")), grepl("of a matrix", said(terms(named))),
          grepl("mercer_importance", said(coef(fit))))
keys <- capture.output(print(mercer_specs("gp")))
stopifnot(any(grepl("^gp [(]models[)]", keys)), any(grepl("^  noise", keys)), any(grepl("^kernels: gaussian", capture.output(print(mercer_specs())))))

# Weights and groups.
twice <- mercer(y ~ a + b, data[c(1:n, 1:50), ], search = FALSE, map = map, lambda = 1e-3, precision = "f64")
weighted <- mercer(y ~ a + b, data, weights = 1 + (seq_len(n) <= 50), search = FALSE, map = map, lambda = 1e-3, precision = "f64")
near(predict(twice, data), predict(weighted, data), 1e-7)
grouped <- mercer(y ~ a + b, data, groups = kind, assess = FALSE, effort = "quick", map = list(features = 64))
stopifnot(mercer_report(grouped)$rows_are == "grouped")

# Classes: two by texts and truths, several by a factor with an unused level.
flowers <- mercer(Species ~ ., transform(iris, Species = factor(Species, c("none", levels(Species)))), search = FALSE, map = list(features = 256))
p <- predict(flowers, iris, "prob")
stopifnot(identical(colnames(predict(flowers, iris, "probability")), levels(iris$Species)))
near(rowSums(p), rep(1, 150), 1e-12)
stopifnot(identical(colnames(p), levels(iris$Species)), mean(predict(flowers, iris) == iris$Species) > 0.95,
          identical(predict(flowers, iris, "class"), predict(flowers)), identical(as.character(predict(flowers, iris)), colnames(p)[max.col(p)]))
truths <- mercer(on ~ a + b + y, data, search = FALSE, map = list(features = 64))
stopifnot(identical(levels(predict(truths, data)), c("FALSE", "TRUE")), grepl("without classes", said(predict(fit, data, "class"))))

# Processes: the closed form on features (Rasmussen and Williams 2006, equation 2.11).
process <- mercer(x, data$y, model = "gp", search = FALSE, map = map, lambda = 1e-3, noise = 0.04, precision = "f64")
A <- solve(crossprod(centred) + n * 1e-3 * diag(ncol(Z)))
variance <- 0.04 * (rowSums((centred %*% A) * centred) + 1 / n)
near(predict(process, x, "latent_variance"), variance, 1e-8)
interval <- predict(process, x, "interval", level = 0.9)
near(interval[, "upr"] - interval[, "lwr"], 2 * qnorm(0.95) * sqrt(variance + 0.04), 1e-6)
near(predict(process, x, "quantile", probs = 0.95), interval[, "upr"], 1e-12)
stopifnot(identical(colnames(predict(process, x, "quantile", probs = c(0.025, 0.5))), c("2.5%", "50%")),
          identical(colnames(predict(process, x, "gradient")), process$encoder$columns), is.null(colnames(predict(process, x, "sample", samples = ncol(x)))))
stopifnot(inherits(refusal(predict(fit, data, "interval")), "mercer_unsupported"), ncol(predict(process, x, "sample", samples = 3, seed = 1)) == 3)

# Several outputs, counts, no targets.
two <- mercer(cbind(first = y, second = a) ~ b + kind, data, search = FALSE, map = list(features = 32))
stopifnot(identical(colnames(predict(two, data)), c("first", "second")), all(dim(residuals(two)) == c(n, 2)))
counts <- mercer(x, rpois(n, exp(data$b)), model = "logistic", loss = "poisson", search = FALSE, map = list(features = 64))
near(predict(counts, x), exp(predict(counts, x, "value")), 1e-12)
components <- mercer(~ a + b, data, model = "kernel_pca", components = 2)
near(predict(components, data), predict(mercer(x, model = "kernel_pca", components = 2), x), 1e-12)
near(colMeans(predict(components, data)), c(0, 0), 1e-8)

# Files, bytes and saved objects.
path <- tempfile(fileext = ".mercer")
mercer_save(fit, path)
loaded <- mercer_load(path)
near(predict(loaded, data), predict(fit, data), 0)
saveRDS(fit, path)
near(predict(readRDS(path), data), predict(fit, data), 0)
near(predict(unserialize(serialize(flowers, NULL)), iris, "prob"), p, 0)
stopifnot(refusal(mercer_load(tempfile()))$status == "MERCER_IO", inherits(refusal(mercer_load(path)), "mercer_error"))

# What the library refuses is a condition with its sentence and fields; progress, cancelling, interrupts.
refused <- refusal(mercer(y ~ ., data, lamda = 1))
stopifnot(inherits(refused, "mercer_invalid_argument"), refused$fields$argument == "lamda", "lambda" %in% unlist(refused$fields$choices),
          grepl("lamda", conditionMessage(refused)))
shares <- c()
done <- mercer(y ~ a, data, search = FALSE, map = list(features = 64), progress = function(done, total) shares[length(shares) + 1] <<- done / total)
stopifnot(!is.unsorted(shares), shares[length(shares)] == 1)
stopifnot(said(mercer(y ~ a, data, progress = function(done, total) stop("of the caller"))) == "of the caller",
          inherits(tryCatch(mercer(y ~ a, data, progress = function(done, total) FALSE), interrupt = identity), "mercer_cancelled"))
stopifnot(grepl("threads = -1", said(mercer(y ~ a, data, threads = -1))), grepl("without a name", said(mercer(y ~ a, data, list(1), 3))))

# Lists where the library takes them alone.
half <- c(gaussian, variance = 0.5)
near(mercer_kernel(x, spec = list(kernel = "sum", parts = list(half, half))), K, 1e-12)
near(mercer_kernel(x, spec = list(kernel = "dot_product", coefficients = 2)), matrix(2, n, n), 0)
near(mercer_kernel(x, spec = list(kernel = "metric", of = list(kernel = "gaussian"), matrix = diag(1 / 0.7, 2))), K, 1e-12)

# Importance, plots and what is printed.
importance <- mercer_importance(fit, data, repeats = 2)
stopifnot(setequal(rownames(importance), c("a", "b", "kind", "on")), all(importance[c("b", "kind"), "drop"] > 0.05))
grDevices::pdf(NULL)
plot(fit)
plot(flowers)
plot(process, "calibration", newdata = x, y = data$y)
stopifnot(grepl("predictive|quantile", said(plot(fit, "calibration"))))
searched <- summary(mercer(y ~ a + b, data, effort = "quick", map = list(features = 64)))
stopifnot(any(grepl("rows not seen", capture.output(print(searched)))), any(grepl("Model ridge of 200 rows", capture.output(print(fit)))))
