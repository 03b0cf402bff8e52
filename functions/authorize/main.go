// Function authorize authenticates callers for API Gateway.
package main

import (
	"context"
	"fmt"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/person"
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/secretsmanager"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "authorize", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	people, err := person.New(f.SignIn, f.Log, f.Now)
	if err != nil {
		return nil, fmt.Errorf("make sign-in: %w", err)
	}
	h := &handler{authenticator: &apikey.Authenticator{
		Keys:   dynamo.New(f.SDK, f.Table),
		Admin:  secretsmanager.New(f.SDK, f.AdminKeySecretARN, f.Now),
		People: people,
		Log:    f.Log,
		Now:    f.Now,
	}}
	return h.Handle, nil
}
