# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Features and kernels as matrices.

mercer_features <- function(x, spec, D = NULL, seed = NULL, rows = NULL, threads = 0, memory = 0, progress = NULL) {
  x <- numbers_of(x, "x")
  running <- running_with(threads, memory, progress)
  defaults <- c(list(inputs = ncol(x)), if (!is.null(D)) list(features = D), if (!is.null(seed)) list(seed = seed))
  map <- answer(.Call(C_map_make, spec_with(defaults, spec, "map"), columns_of(rows), running), running = running)
  Z <- t(answer(.Call(C_map_transform, map, columns_of(x), running), running = running))
  if (nrow(Z) == nrow(x)) rownames(Z) <- rownames(x)
  structure(Z, spec = parse_json(answer(.Call(C_map_said, map))))
}

numbers_of <- function(x, name) {
  x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) stop(name, " of type ", typeof(x), ", expected a matrix of numbers", call. = FALSE)
  x
}

mercer_kernel <- function(x, y = x, spec = "gaussian", threads = 0, memory = 0, progress = NULL) {
  x <- numbers_of(x, "x")
  y <- numbers_of(y, "y")
  running <- running_with(threads, memory, progress)
  kernel <- answer(.Call(C_kernel_make, spec_with(NULL, spec, "kernel")))
  K <- t(answer(.Call(C_kernel_gram, kernel, columns_of(x), columns_of(y), running), running = running))
  if (!is.null(rownames(x)) || !is.null(rownames(y))) dimnames(K) <- list(rownames(x), rownames(y))
  K
}
