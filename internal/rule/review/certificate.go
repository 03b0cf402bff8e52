package review

import (
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
)

const day = 24 * time.Hour

// judgeCertificate warns 30 days and 7 days before the client certificate ends. The flag names
// the certificate's end, so a new certificate gets its own warnings.
func (j *judgement) judgeCertificate() {
	j.after.Certificate = ""
	if !j.Endpoint.TLS.Client {
		return
	}
	end := j.Endpoint.TLS.NotAfter.UTC()
	for _, days := range []int{7, 30} {
		if end.Sub(j.now) <= time.Duration(days)*day {
			j.after.Certificate = fmt.Sprintf("%s/%d", end.Format(time.RFC3339), days)
			return
		}
	}
}

// expiring returns the notification of a new warning, if there is one.
func (j *judgement) expiring() []hook.Notification {
	if j.after.Certificate == "" || j.after.Certificate == j.before.Certificate {
		return nil
	}
	verb, t := "ends", j.Endpoint.TLS
	if !t.NotAfter.After(j.now) {
		verb = "ended"
	}
	reason := fmt.Sprintf("The client certificate %s %s at %s: set another certificate and key in tls.", t.Subject, verb, t.NotAfter.UTC().Format(time.RFC3339))
	return []hook.Notification{j.notification(hook.NotificationExpiring, j.after.Certificate, reason)}
}
