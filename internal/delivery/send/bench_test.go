package send_test

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

func BenchmarkClassify(b *testing.B) {
	tests := []struct {
		name string
		err  error
		want hook.Class
	}{
		{name: "refused", err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, want: hook.ClassConnect},
		{name: "unknown", err: errors.New("malformed HTTP response"), want: hook.ClassReset},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				if class, _ := send.Classify(tt.err, nil, false); class != tt.want {
					b.Fatalf("classify(%v) = %s; want %s", tt.err, class, tt.want)
				}
			}
		})
	}
}
