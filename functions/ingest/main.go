// Function ingest accepts events over HTTP.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/internal/lambdafn"
	"surehook/functions/internal/wire"
	"surehook/internal/aws/apigateway"
	"surehook/internal/config"
	"surehook/internal/delivery/ingest"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
)

func main() {
	if lambdafn.Start(context.Background(), os.LookupEnv, config.ForIngest, newHandler) != nil {
		os.Exit(1)
	}
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Ingest, sdk aws.Config, log *slog.Logger) (any, error) {
	store := wire.Store(sdk, cfg.Table, emf.Set{}, log, time.Now)
	acceptor, err := wire.Acceptor(sdk, store, wire.AcceptorConfig{LiveQueue: cfg.LiveQueue, CoalesceQueue: cfg.CoalesceQueue, Retention: cfg.Retention, Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("wire acceptor: %w", err)
	}
	usual, err := hook.ParseValidation(cfg.Validation)
	if err != nil {
		return nil, fmt.Errorf("read validation: %w", err)
	}
	if acceptor.Types, err = ingest.NewTypes(store, usual, ingest.TypesAge); err != nil {
		return nil, fmt.Errorf("make event types: %w", err)
	}
	return apigateway.Handle(httpapi.Events(acceptor, log)), nil
}
