package wire

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/emf"
)

// Batches returns the response to batches of SQS messages.
func Batches(sdk aws.Config, metrics emf.Set, log *slog.Logger, now func() time.Time) lambdafn.Batches {
	return lambdafn.Batches{Visibility: sqs.NewVisibility(sdk), Rand: rand.Float64, Metrics: metrics, Log: log, Now: now}
}
