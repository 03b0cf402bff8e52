// Package notices wires how owners and operators hear of what is decided, for
// the functions that decide it.
package notices

import (
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/accept"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sns"
	"surehook/internal/metric"
	"surehook/internal/notice"
)

// Config is what a function knows of it.
type Config struct {
	Events   accept.Config // of the events that carry notices
	TopicARN string
	Metrics  metric.Set
}

// Teller returns what tells notices.
func Teller(sdk aws.Config, store *dynamo.Store, c Config, log *slog.Logger) (notice.Teller, error) {
	poster, err := accept.Acceptor(sdk, store, c.Events)
	if err != nil {
		return notice.Teller{}, err //nolint:wrapcheck // it says what it was
	}
	return notice.Teller{
		History: store,
		Poster:  poster,
		Topic:   sns.New(sdk, c.TopicARN),
		Metrics: c.Metrics,
		Log:     log,
	}, nil
}
