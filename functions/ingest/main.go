// Function ingest accepts events over HTTP and from the events queue.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "ingest", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	store := wire.Store(sdk, cfg.Table, emf.Set{}, log, time.Now)
	acceptor := wire.Acceptor(cfg, sdk, store, time.Now)
	validation, err := hook.ParseValidation(cmp.Or(cfg.Validation, names.ValidationOff))
	if err != nil {
		return nil, fmt.Errorf("read validation: %w", err)
	}
	acceptor.Types = ingest.NewTypes(store, validation, ingest.TypesAge)
	metrics := emf.Set{Environment: cfg.Environment}
	h := &handler{
		api: apigateway.Handle(httpapi.Events(acceptor, log)),
		source: &source.Source{
			Reader:   source.Reader{Tenant: cfg.TenantPath, Body: httpapi.ReadEvent},
			Acceptor: acceptor,
			Queue:    sqs.NewEventQueue(sdk, cfg.Queues.Events, cfg.Queues.Rejects),
			Rand:     rand.Float64,
			Metrics:  metrics,
			Log:      log,
			Now:      time.Now,
		},
		batches: wire.Batches(sdk, metrics, log, time.Now),
	}
	return h.Handle, nil
}
