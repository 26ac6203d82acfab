import os, subprocess, sys, time
OUT=os.environ["OUT"]; py=sys.executable
def step(name, limit, command):
    t=time.time()
    with open(f"{OUT}/{name}.log","w") as log:
        rc=subprocess.run(f"timeout {limit} "+command, shell=True, stdout=log, stderr=subprocess.STDOUT, start_new_session=True).returncode
    tail=" | ".join(open(f"{OUT}/{name}.log",errors="replace").read().splitlines()[-3:])
    print(f"{name}: rc={rc} {time.time()-t:.0f}s {tail[-400:]}", flush=True)
step("two",60,f"{py} bench/two_gpus.py --json {OUT}/two.json")
step("smoke",60,f"{py} bench/gpu_smoke.py two_gpus")
step("lib",70,f"{py} bench/libraries.py --json {OUT}/lib.json")
step("san",70,f"{py} bench/launch_soak.py --sanitizer --json {OUT}/san.json")
step("soak",200,f"{py} bench/launch_soak.py --json {OUT}/soak.json")
