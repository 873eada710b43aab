module whorl.example/check

go 1.19
