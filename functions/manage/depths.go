package main

import (
	"context"

	"surehook/internal/admin/status"
	"surehook/internal/aws/sqs"
)

var _ status.Queues = depths{}

// depths implements status.Queues over SQS.
type depths struct {
	reader *sqs.Depths
	urls   map[string]string
}

// Depths returns the depth of each queue.
func (d depths) Depths(ctx context.Context) (map[string]status.Depth, error) {
	read, err := d.reader.Depths(ctx, d.urls)
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the queue
	}
	found := make(map[string]status.Depth, len(read))
	for name, depth := range read {
		found[name] = status.Depth(depth)
	}
	return found, nil
}
