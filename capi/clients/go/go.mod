module mercer

go 1.19
