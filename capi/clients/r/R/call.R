# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Calls of the library: what fails becomes a condition, what takes long can be interrupted, and a model that was saved is opened again.

# A condition of class mercer_STATUS, such as mercer_invalid_argument, and mercer_error, whose message is the library's sentence and whose
# fields say what it is about. One that an interrupt or `progress` caused is what they signalled.
answer <- function(made, call = sys.call(-1), running = NULL) {
  if (!inherits(made, "mercer_failure")) return(made)
  if (!is.null(running$raised$condition)) stop(running$raised$condition)
  interrupted <- made$status == "MERCER_CANCELLED"
  kind <- if (interrupted) c("mercer_cancelled", "interrupt") else c(tolower(made$status), "mercer_error", "error")
  stop(structure(class = c(kind, "condition"), list(message = made$message, call = call, status = made$status, fields = parse_json(made$fields))))
}

# Threads, bytes and progress of a long call, as C takes them. What progress signals is kept, and ends the call.
running_with <- function(threads = 0, memory = 0, progress = NULL) {
  raised <- new.env()
  watch <- function(done, total) {
    kept <- function(condition) {
      raised$condition <- condition
      TRUE
    }
    tryCatch(isFALSE(progress(done, total)), error = kept, interrupt = kept)
  }
  list(whole("threads", threads), whole("memory", memory), if (!is.null(progress)) watch, raised = raised)
}

whole <- function(name, value, most = 2^53) {
  fits <- is.numeric(value) && length(value) == 1 && is.finite(value) && value >= 0 && value <= most && value == floor(value)
  if (!fits) stop(sprintf("%s = %s, expected a whole number >= 0", name, deparse1(value)), call. = FALSE)
  as.double(value)
}

# Columns are the library's rows.
columns_of <- function(x) if (is.null(x)) NULL else t(`storage.mode<-`(as.matrix(x), "double"))

# The open model of an object, whose environment keeps it until the session ends.
opened <- function(object) {
  if (is.null(object$handle$model) || !.Call(C_is_open, object$handle$model)) {
    object$handle$model <- answer(.Call(C_model_read, object$bytes))
  }
  object$handle$model
}

# The list that a model says under a word of mercer_model_text.
said <- function(object, what) parse_json(answer(.Call(C_model_said, opened(object), what)))

mercer_report <- function(object, what = c("report", "spec", "norms")) said(object, match.arg(what))
