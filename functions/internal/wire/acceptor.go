// Package wire builds the objects used by several functions, from their settings
// and the SDK.
package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// Acceptor returns an acceptor of events over store.
func Acceptor(cfg config.Settings, sdk aws.Config, store *dynamo.Store, now func() time.Time) *ingest.Acceptor {
	return &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(sdk, sqs.URLs{hook.QueueLive: cfg.Queues.Live, hook.QueueCoalesce: cfg.Queues.Coalesce}),
		Directory: ingest.NewDirectory(store),
		Retention: cfg.Retention,
		Now:       now,
		NewID:     hook.NewEventID,
	}
}
