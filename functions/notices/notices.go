// Package notices wires how owners and operators hear of what is decided, for
// the functions that decide it.
package notices

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sns"
	"surehook/internal/aws/sqs"
	"surehook/internal/hook"
	"surehook/internal/ingest"
	"surehook/internal/metric"
	"surehook/internal/notice"
)

// Config is what a function knows of it.
type Config struct {
	LiveQueue string // URL
	TopicARN  string
	Retention time.Duration // how long the events are kept that carry notices
	Metrics   metric.Set
	Now       func() time.Time
}

// Teller returns what tells notices.
func Teller(sdk aws.Config, store *dynamo.Store, c Config, log *slog.Logger) (notice.Teller, error) {
	directory, err := ingest.NewDirectory(store)
	if err != nil {
		return notice.Teller{}, fmt.Errorf("make directory: %w", err)
	}
	return notice.Teller{
		History: store,
		Poster: &ingest.Acceptor{
			Store:     store,
			Queue:     sqs.New(sdk, sqs.URLs{Live: c.LiveQueue}),
			Directory: directory,
			Retention: c.Retention,
			Now:       c.Now,
			NewID:     hook.NewEventID,
		},
		Topic:   sns.New(sdk, c.TopicARN),
		Metrics: c.Metrics,
		Log:     log,
	}, nil
}
