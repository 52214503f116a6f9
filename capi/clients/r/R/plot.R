# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# What a fit looks like on its own rows or, better, on others.

# The rows of new data, or those of the fit: x as the library has it, and y.
rows_with_targets <- function(object, newdata, y) {
  if (is.null(newdata)) {
    if (is.null(object$data)) stop("no newdata, and the model keeps none of its own, expected newdata and y", call. = FALSE)
    return(list(x = object$data$x, y = object$data$y, seen = TRUE))
  }
  if (is.null(y) && is.data.frame(newdata) && length(object$encoder$response)) {
    y <- eval(str2lang(object$encoder$response), newdata, environment(object$encoder$terms))
  }
  if (is.null(y)) stop("no y, expected the targets of newdata", call. = FALSE)
  list(x = new_rows(object, newdata), y = y, seen = FALSE)
}

# A view of the object that takes rows as the library has them.
plain <- function(object) {
  object$encoder <- list(labels = object$encoder$columns, named = FALSE, passes = object$encoder$passes, targets = object$encoder$targets,
                         columns = object$encoder$columns)
  if (is.null(object$encoder$columns)) object$encoder$labels <- seq_len(object$shape[["inputs"]])
  object
}

# R^2, or the share of rows whose class is right.
goodness <- function(object, x, y) {
  predicted <- predict(object, x)
  if (!is.null(object$levels)) return(mean(as.character(predicted) == as.character(y), na.rm = TRUE))
  y <- as.matrix(y)
  known <- !is.na(y) & !is.na(as.matrix(predicted))
  centred <- sweep(y, 2, colMeans(y, na.rm = TRUE))
  1 - sum((y - as.matrix(predicted))[known]^2) / sum(centred[known]^2)
}

mercer_importance <- function(object, newdata = NULL, y = NULL, repeats = 5) {
  if (whole("repeats", repeats) < 1) stop("repeats = 0, expected at least 1", call. = FALSE)
  rows <- rows_with_targets(object, newdata, y)
  view <- plain(object)
  x <- `dimnames<-`(unclass(rows$x), NULL)
  attr(x, "assign") <- NULL
  whole_score <- goodness(view, x, rows$y)
  terms <- if (is.null(object$encoder$assign)) seq_len(ncol(x)) else object$encoder$assign
  drops <- vapply(unique(terms), function(term) {
    one <- replicate(repeats, {
      mixed <- x
      mixed[, terms == term] <- x[sample(nrow(x)), terms == term]
      whole_score - goodness(view, mixed, rows$y)
    })
    c(mean(one), stats::sd(one))
  }, c(0, 0))
  found <- data.frame(drop = drops[1, ], sd = drops[2, ], row.names = make.unique(object$encoder$labels[unique(terms)]))
  found[order(-found$drop), ]
}

plot.mercer <- function(x, which = NULL, newdata = NULL, y = NULL, ...) {
  rows <- rows_with_targets(x, newdata, y)
  view <- plain(x)
  curve <- calibration(view, rows, asked = "calibration" %in% which)
  has <- c(if (is.null(dim(rows$y)) || NCOL(rows$y) == 1) "fit", if (!is.null(curve)) "calibration", "importance")
  which <- if (is.null(which)) has else match.arg(which, c("fit", "calibration", "importance"), several.ok = TRUE)
  if (length(which) > 1 && grDevices::dev.interactive()) {
    before <- grDevices::devAskNewPage(TRUE)
    on.exit(grDevices::devAskNewPage(before))
  }
  of <- if (rows$seen) "rows of the fit" else "new rows"
  for (one in which) switch(one,
    fit = plot_fit(view, rows, of, ...),
    calibration = plot_calibration(curve, of, ...),
    importance = plot_importance(mercer_importance(x, newdata, y), of, ...))
  invisible(x)
}

plot_fit <- function(view, rows, of, ...) {
  predicted <- predict(view, rows$x)
  if (!is.null(view$levels)) {
    plot(factor(as.character(rows$y), view$levels), predicted, xlab = "class", ylab = "predicted class", main = paste("Classes of", of), ...)
    return(invisible())
  }
  plot(as.numeric(predicted), as.numeric(rows$y), xlab = "predicted", ylab = "observed", main = paste("Predictions of", of), ...)
  abline(0, 1, lty = 2)
}

# Predicted and observed shares: of the most probable class in ten bins of equally many rows; of intervals of a regression.
calibration <- function(view, rows, asked) {
  if (is.null(view$levels)) {
    levels <- seq(0.1, 0.9, 0.1)
    inside <- tryCatch(vapply(levels, function(level) {
      ends <- predict(view, rows$x, "interval", level = level)
      mean(as.numeric(rows$y) >= ends[, "lwr"] & as.numeric(rows$y) <= ends[, "upr"], na.rm = TRUE)
    }, 0), mercer_unsupported = function(none) if (asked) stop(none))
    return(if (!is.null(inside)) list(predicted = levels, observed = inside, xlab = "level of intervals", ylab = "share of rows inside"))
  }
  if (view$shape[["has_probabilities"]] == 0) return(if (asked) stop("the model has no probabilities, expected one that has", call. = FALSE))
  p <- predict(view, rows$x, "prob")
  best <- max.col(p, "first")
  largest <- p[cbind(seq_along(best), best)]
  right <- view$levels[best] == as.character(rows$y)
  bin <- ceiling(10 * rank(largest, ties.method = "first") / length(largest))
  list(predicted = tapply(largest, bin, mean), observed = tapply(right, bin, mean), xlab = "mean largest probability", ylab = "share of rows that are right")
}

plot_calibration <- function(curve, of, ...) {
  plot(curve$predicted, curve$observed, type = "b", xlim = c(0, 1), ylim = c(0, 1), xlab = curve$xlab, ylab = curve$ylab,
       main = paste("Calibration on", of), ...)
  abline(0, 1, lty = 2)
}

plot_importance <- function(found, of, ...) {
  found <- utils::head(found, 20)
  room <- c(0, 0.4 + 0.6 * max(nchar(rownames(found))) * par("cin")[1], 0, 0)
  before <- par(mai = pmax(par("mai"), pmin(room, par("din")[1] / 3)))
  on.exit(par(before))
  barplot(rev(found$drop), names.arg = rev(rownames(found)), horiz = TRUE, las = 1, xlab = "fall of the score where the variable is permuted",
          main = paste("Importance on", of), ...)
}
