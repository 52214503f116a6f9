# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Predictions, in the words of R where it has them.

predict.mercer <- function(object, newdata, type = "response", level = 0.95, probs = numeric(0), partials = NULL, samples = 0, seed = 0,
                           extrapolation = c("default", "clip", "free", "refuse"), threads = 0, memory = 0, progress = NULL, ...) {
  if (...length()) stop("further arguments, expected none: ", toString(names(list(...))))
  if (!is.character(type) || length(type) != 1) stop("type = ", deparse1(type), ", expected a text")
  extrapolation <- match.arg(extrapolation)
  if (missing(newdata)) {
    if (is.null(object$data)) stop("no newdata, and the model keeps none of its own, expected newdata")
    x <- object$data$x
  } else {
    x <- new_rows(object, newdata)
    endless <- colSums(is.infinite(x)) > 0
    if (any(endless)) {
      warning("infinite numbers in ", toString(value_or_place(colnames(x), endless), 60), ": predicted as the ends of their range, or NaN where inputs are not clipped", call. = FALSE)
    }
  }
  orders <- if (is.null(partials)) matrix(0L, 0, 0) else t(`storage.mode<-`(partials, "integer"))
  if (!is.null(partials) && nrow(orders) != ncol(x)) stop(sprintf("partials of %d columns, expected %d", nrow(orders), ncol(x)))
  ask <- function(what, levels = probs) {
    asked <- list(match(extrapolation, c("default", "clip", "free", "refuse")) - 1L, whole("samples", samples), whole("seed", seed), as.double(levels), orders)
    running <- running_with(threads, memory, progress)
    t(answer(.Call(C_model_predict, opened(object), columns_of(x), what, asked, running), sys.call(-3), running))
  }
  whole_rows <- object$encoder$passes | !rowSums(is.na(x)) > 0
  all <- rownames(x)
  x <- x[whole_rows, , drop = FALSE]
  found <- with_missing(worded(object, type, level, probs, ask, x), whole_rows, all)
  if (missing(newdata)) napredict(object$na.action, found) else found
}

value_or_place <- function(names, which) if (is.null(names)) paste("column", base::which(which)) else names[which]

# Rows with a missing input are missing, where the fit left such rows out, too.
with_missing <- function(found, whole_rows, names) {
  place <- replace(rep(NA_integer_, length(whole_rows)), whole_rows, seq_len(sum(whole_rows)))
  if (is.matrix(found)) return(structure(found[place, , drop = FALSE], dimnames = if (!is.null(colnames(found)) || !is.null(names)) list(names, colnames(found))))
  found <- found[place]
  names(found) <- names
  found
}

# What a word of R means; others are the library's.
worded <- function(object, type, level, probs, ask, x) {
  classes <- !is.null(object$levels)
  if (type == "class" && !classes) stop("type = \"class\" of a model without classes, expected \"response\" or \"interval\"", call. = FALSE)
  if (type == "class" || (type == "response" && classes)) return(classes_of(object, ask))
  if (type == "prob") return(`colnames<-`(ask("probability"), object$levels))
  if (type == "interval") return(interval_of(object, level, ask))
  found <- ask(if (type == "response") "value" else type)
  # Of counts the library predicts logarithms of means.
  if (type == "response" && identical(said(object, "spec")$loss, "poisson")) found <- exp(found)
  if (ncol(found) == 1) return(found[, 1])
  colnames(found) <- value_names(object, type, probs, ncol(found))
  found
}

value_names <- function(object, type, probs, columns) {
  outputs <- object$shape[["outputs"]]
  if (type %in% c("value", "probability") && !is.null(object$levels)) return(object$levels)
  if (type %in% c("response", "value") && length(object$encoder$targets) == columns) return(object$encoder$targets)
  if (outputs == 1 && type == "quantile") return(paste0(vapply(100 * probs, format, ""), "%"))
  if (outputs == 1 && type %in% c("gradient", "gradient_variance", "hessian_diagonal", "prepared")) return(if (columns == length(object$encoder$columns)) object$encoder$columns)
}

# By probability, which the command `mercer` goes by, too, but where classes were balanced, which probabilities are not.
classes_of <- function(object, ask) {
  balanced <- identical(said(object, "spec")$class_weight, "balanced")
  codes <- if (object$shape[["has_probabilities"]] == 1 && !balanced) max.col(ask("probability"), "first") else ask("class")[, 1] + 1
  factor(object$levels[codes], object$levels)
}

# fit, lwr and upr, of several outputs each in turn.
interval_of <- function(object, level, ask) {
  if (!is.numeric(level) || length(level) != 1 || !is.finite(level) || level <= 0 || level >= 1) {
    stop("level = ", deparse1(level), ", expected a number between 0 and 1", call. = FALSE)
  }
  ends <- tryCatch(ask("quantile", c(1 - level, 1 + level) / 2), mercer_unsupported = function(condition) {
    condition$message <- "type = \"interval\" of this model, expected one with quantiles, fitted with model = \"gp\""
    stop(condition)
  })
  value <- ask("value")
  m <- ncol(value)
  found <- do.call(cbind, lapply(seq_len(m), function(o) cbind(fit = value[, o], lwr = ends[, 2 * o - 1], upr = ends[, 2 * o])))
  if (m > 1) colnames(found) <- paste(rep(if (is.null(object$encoder$targets)) seq_len(m) else object$encoder$targets, each = 3), colnames(found), sep = ".")
  found
}
