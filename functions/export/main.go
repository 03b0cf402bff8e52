// Function export turns log lines about events and attempts into spans, and sends
// the spans to an OTLP endpoint or to X-Ray. Subscriptions of the logs of ingest and
// deliver call the function, so the path of an event does not wait for it.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/emf"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "export", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	h := &handler{
		exporter: newExporter(cfg, sdk, time.Now), environment: cfg.Environment,
		metrics: emf.Set{Environment: cfg.Environment}, log: log, now: time.Now,
	}
	return h.Handle, nil
}
