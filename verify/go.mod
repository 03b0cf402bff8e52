module surehook.example/surehook/verify

go 1.24.0
