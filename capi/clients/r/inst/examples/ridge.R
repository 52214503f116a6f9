# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# A kernel approximated by random features, a model, its file, what an error says. Usage: Rscript ridge.R [FILE]
library(mercer)

# Numbers below 2^64 as four parts of 16 bits, the lowest first, since R has no such integers.
product <- function(a, b) {
  sums <- c(a[1] * b[1], a[1] * b[2] + a[2] * b[1], a[1] * b[3] + a[2] * b[2] + a[3] * b[1], a[1] * b[4] + a[2] * b[3] + a[3] * b[2] + a[4] * b[1])
  carried(sums)
}
carried <- function(sums) {
  for (i in 1:3) {
    sums[i + 1] <- sums[i + 1] + sums[i] %/% 65536
    sums[i] <- sums[i] %% 65536
  }
  sums[4] <- sums[4] %% 65536
  sums
}

# Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language.
uniform <- function(count) {
  state <- c(1, 0, 0, 0)
  numbers <- numeric(count)
  for (i in seq_len(count)) {
    state <- carried(product(state, c(0x7f2d, 0x4c95, 0xf42d, 0x5851)) + c(0x814f, 0xf767, 0x7b7e, 0x1405))
    numbers[i] <- state[4] %/% 64 / 512 - 1
  }
  numbers
}

# FNV-1a of the bytes of predictions; clients in other languages print the same.
hash_of <- function(predictions) {
  hash <- c(0x2325, 0x8422, 0x9ce4, 0xcbf2)
  for (byte in as.integer(writeBin(predictions, raw(), endian = "little"))) {
    hash[1] <- bitwXor(hash[1], byte)
    hash <- product(hash, c(0x01b3, 0x0000, 0x0100, 0x0000))
  }
  paste(sprintf("%04x", rev(hash)), collapse = "")
}

X <- matrix(uniform(6000), ncol = 3, byrow = TRUE)
y <- X[, 1] * X[, 1] + X[, 2] * X[, 3]

kernel <- list(kernel = "gaussian", lengthscale = 0.7)
Z <- mercer_features(X[1:50, ], list(kernel = kernel), D = 512, seed = 42)
error <- max(abs(tcrossprod(Z) - mercer_kernel(X[1:50, ], spec = kernel)))

path <- c(commandArgs(TRUE), "ridge_r.mercer")[1]
# mercer(X, y) would search map, kernel, lengthscales and lambda.
fit <- mercer(X, y, map = list(kernel = kernel, features = 512), search = FALSE, lambda = 1e-6)
mercer_save(fit, path)
f <- predict(mercer_load(path), X)
cat("predictions ", hash_of(f), "\n", sep = "")
relative <- sqrt(sum((y - f)^2) / sum(y^2))
cat(sprintf("relative error %.2e, largest kernel error %.3f\n", relative, error))
refused <- tryCatch(mercer_features(X, list(kernel = kernel), D = -8), mercer_invalid_argument = identity)
cat("an error says:", conditionMessage(refused), "\n")
# Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
stopifnot(relative < 0.02, error < 6 * sqrt(1.5 / 512))
