// Function export turns log lines about events and attempts into spans, and sends
// the spans to an OTLP endpoint or to X-Ray. Subscriptions of the logs of ingest and
// deliver call the function, so the path of an event does not wait for it.
package main

import (
	"context"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "export", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	h := &handler{
		exporter: newExporter(f), environment: f.Environment,
		metrics: f.Metrics, log: f.Log, now: f.Now,
	}
	return h.Handle, nil
}
