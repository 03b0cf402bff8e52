package deadletter

import (
	"time"

	"surehook/internal/hook"
)

// Letter is what the analysis reads of one dead delivery.
type Letter struct {
	Endpoint hook.EndpointID
	Reason   hook.Reason // why it is dead
	Class    hook.Class  // of the last attempt; 0 when there was none
	Status   int         // of the last attempt; 0 when there was no answer
	Error    string      // of the last attempt, for people
	Attempts int
	DiedAt   time.Time
}

// LetterOf returns the letter of a dead delivery.
func LetterOf(d hook.Delivery) Letter {
	return Letter{
		Endpoint: d.ID.Endpoint,
		Reason:   d.Reason,
		Class:    d.Last.Class,
		Status:   d.Last.Status,
		Error:    d.Last.Error,
		Attempts: d.Attempts,
		DiedAt:   d.UpdatedAt,
	}
}
