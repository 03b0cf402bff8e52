// Function authorize tells API Gateway who makes a request.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/start"
	"surehook/internal/authorize"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/secret"
	"surehook/internal/config"
)

func main() {
	if start.Function(context.Background(), os.LookupEnv, config.ForAuthorize, wire) != nil {
		os.Exit(1)
	}
}

// wire makes the handler, once per execution environment.
func wire(cfg config.Authorize, sdk aws.Config, log *slog.Logger) (any, error) {
	h := &handler{
		authenticator: &authorize.Authenticator{
			Keys:  dynamo.New(sdk, cfg.Table),
			Admin: secret.New(sdk, cfg.AdminKeySecretARN, time.Now),
			Log:   log,
			Now:   time.Now,
		},
		log: log,
	}
	return h.Handle, nil
}
