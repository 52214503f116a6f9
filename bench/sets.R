# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Sets of R packages as CSV files, DIR/NAME/NAME.csv, the target last, classes as numbers from 0, categories as text.
# Usage: Rscript sets.R DIR    Debian: r-cran-mlbench, r-cran-modeldata, r-cran-ggplot2, r-cran-kernlab
directory <- commandArgs(TRUE)[1]
targets <- c("mlbench BostonHousing medv", "mlbench Servo Class", "mlbench Satellite classes", "mlbench Vehicle Class",
             "mlbench Vowel Class", "mlbench Sonar Class", "mlbench Ionosphere Class", "mlbench Glass Type", "mlbench DNA Class",
             "modeldata ames Sale_Price", "modeldata car_prices Price", "modeldata Chicago ridership", "modeldata Sacramento price",
             "modeldata meats protein", "ggplot2 diamonds price", "kernlab musk Class", "datasets swiss Fertility",
             "datasets trees Volume", "datasets rock perm", "datasets stackloss stack.loss", "datasets attitude rating",
             "datasets longley Employed", "datasets mtcars mpg", "datasets LifeCycleSavings sr", "datasets cars dist", "datasets freeny y")
for (line in targets) {
  word <- strsplit(line, " ")[[1]]
  data(list = word[2], package = word[1])
  rows <- as.data.frame(get(word[2]))
  # A date is a number; the other shares of a meat's contents are not known where one is asked for.
  rows <- rows[setdiff(names(rows), c(word[3], "water", "fat"))]
  rows[] <- lapply(rows, function(x) if (inherits(x, "Date")) as.numeric(x) else if (is.logical(x)) as.integer(x) else x)
  y <- get(word[2])[[word[3]]]
  rows$target <- if (is.factor(y) && word[2] != "Servo") as.integer(y) - 1L else as.numeric(as.character(y))
  dir.create(file.path(directory, word[2]), recursive = TRUE, showWarnings = FALSE)
  write.csv(rows, file.path(directory, word[2], paste0(word[2], ".csv")), row.names = FALSE)
}
