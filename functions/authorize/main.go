// Function authorize authenticates callers for API Gateway.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/person"
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/secretsmanager"
	"surehook.example/surehook/internal/config"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "authorize", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	people, err := person.New(cfg.SignIn, log, time.Now)
	if err != nil {
		return nil, fmt.Errorf("make sign-in: %w", err)
	}
	h := &handler{authenticator: &apikey.Authenticator{
		Keys:   dynamo.New(sdk, cfg.Table),
		Admin:  secretsmanager.New(sdk, cfg.AdminKeySecretARN, time.Now),
		People: people,
		Log:    log,
		Now:    time.Now,
	}}
	return h.Handle, nil
}
