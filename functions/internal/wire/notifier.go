package wire

import (
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/sns"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/emf"
)

// Notifier returns the notifier of owners (by event) and operators (by topic).
func Notifier(cfg config.Settings, sdk aws.Config, store *dynamo.Store, log *slog.Logger, now func() time.Time) notify.Notifier {
	return notify.Notifier{
		History: store,
		Poster:  Acceptor(cfg, sdk, store, now),
		Topic:   sns.New(sdk, cfg.TopicARN),
		Metrics: emf.Set{Environment: cfg.Environment},
		Log:     log,
	}
}
