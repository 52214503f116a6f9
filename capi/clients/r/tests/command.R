# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The package and the command `mercer` read each other's models and predict the same, where the command is on PATH.
library(mercer)
command <- Sys.which("mercer")
if (command == "") {
  cat("SKIPPED: no command mercer on PATH\n")
  quit(save = "no")
}
folder <- tempfile()
dir.create(folder)
in_folder <- function(name) file.path(folder, name)
run <- function(...) {
  if (system2(command, c(..., "--quiet"), stdout = in_folder("said"), stderr = in_folder("said")) != 0) stop(readLines(in_folder("said")))
}
near <- function(a, b, tolerance = 1e-9) stopifnot(length(a) == length(b), max(abs(a - b)) <= tolerance * max(1, abs(b)))

set.seed(2)
n <- 240
data <- data.frame(a = round(runif(n), 6), kind = sample(c("low", "Up", "mid"), n, TRUE), `of day` = round(rnorm(n), 6), on = sample(c(TRUE, FALSE), n, TRUE),
                   check.names = FALSE)
data$y <- round(sin(4 * data$a) + data$`of day` * (data$kind == "mid") + data$on + rnorm(n, sd = 0.1), 6)
data$class <- ifelse(data$y > 1, "high", ifelse(data$y < 0, "negative", "between"))
numbers <- data[names(data) != "class"]
classes <- data[names(data) != "y"]
utils::write.csv(numbers, in_folder("numbers.csv"), row.names = FALSE)
utils::write.csv(classes, in_folder("classes.csv"), row.names = FALSE)

# A fit of the package, predicted by the command.
fit <- mercer(y ~ ., numbers, search = FALSE, map = list(features = 128))
mercer_save(fit, in_folder("r.mercer"))
run("predict", in_folder("r.mercer"), in_folder("numbers.csv"), "-o", in_folder("by_command.csv"))
near(utils::read.csv(in_folder("by_command.csv"))[, 1], predict(fit, numbers))
ordered <- replace(classes, "class", list(factor(classes$class, c("negative", "between", "high"))))
signs <- mercer(class ~ ., ordered, search = FALSE, map = list(features = 128))
mercer_save(signs, in_folder("r_classes.mercer"))
run("predict", in_folder("r_classes.mercer"), in_folder("classes.csv"), "--probabilities", "-o", in_folder("by_command.csv"))
by_command <- utils::read.csv(in_folder("by_command.csv"))
stopifnot(identical(by_command[, 1], as.character(predict(signs, classes))))
near(as.matrix(by_command[paste0("probability_", c("negative", "between", "high"))]), predict(signs, classes, "prob"))

# Fits of the command, predicted by the package: the same fit, too.
run("fit", in_folder("numbers.csv"), "--target", "y", "--lengthscale", "1", "--lambda", "1e-3", "-D", "128", "--kernel", "gaussian", "--transform", "none",
    "--target-transform", "none", "-o", in_folder("command.mercer"))
run("predict", in_folder("command.mercer"), in_folder("numbers.csv"), "-o", in_folder("by_command.csv"))
loaded <- mercer_load(in_folder("command.mercer"))
near(predict(loaded, numbers), utils::read.csv(in_folder("by_command.csv"))[, 1])
near(predict(loaded, numbers[3:1, 4:1]), predict(loaded, numbers)[3:1])
run("fit", in_folder("classes.csv"), "--target", "class", "--lengthscale", "1", "--lambda", "1e-3", "-D", "64", "-o", in_folder("command.mercer"))
run("predict", in_folder("command.mercer"), in_folder("classes.csv"), "-o", in_folder("by_command.csv"))
stopifnot(identical(as.character(predict(mercer_load(in_folder("command.mercer")), classes)), utils::read.csv(in_folder("by_command.csv"))[, 1]))
unlink(folder, recursive = TRUE)
