package main

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What Spanner says of an attempt that it has aborted.
func abortedError() error { return status.Error(codes.Aborted, "aborted by hand") }
