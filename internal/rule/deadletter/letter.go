package deadletter

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// Letter is a dead letter: the input of the analysis for one dead delivery.
type Letter struct {
	Endpoint hook.EndpointID
	Reason   hook.Reason // of the death
	Class    hook.Class  // of the last attempt; 0 for no attempt
	Status   int         // of the last attempt; 0 for no response
	Error    string      // of the last attempt, for people
	Attempts int
	DiedAt   time.Time
}

// LetterOf returns the dead letter of a dead delivery.
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
