"""The loop over the bus, without `ros2 launch`: plant, gateway, ECU and recorder, each a process; then the proof.

    python3 demo.py --seconds 10 --folder sim_node_ecu

Exit code 0: the ECU was heard through the whole run, and the bag verifies.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIM_NODE = (sys.executable, "-m", "sim_node.cli")
PLANT = "sim_node.kernels.quarter_car:QuarterCar"
END_S = 60.0


def main() -> int:
    """Run the loop, print what became of the messages and of the bag, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to record")
    parser.add_argument("--folder", type=Path, default=Path("sim_node_ecu"), help="where the bag goes")
    parser.add_argument("--wiring", type=Path, default=HERE / "can.yaml", help="bus and messages")
    parser.add_argument("--name", default="suspension", help="name of the node")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    bag = given.folder / "bag.mcap"
    with ExitStack() as stack:

        def start(*command: object) -> subprocess.Popen[str]:
            process = stack.enter_context(subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            return process

        gateway = start(*SIM_NODE, "can", given.wiring, "--node", given.name, "--json")
        ecu = start(sys.executable, HERE / "ecu.py", given.wiring)
        recorder = start(
            *SIM_NODE,
            "record",
            "--node",
            f"/{given.name}",
            "--bag",
            bag,
            "--force",
            "--seconds",
            given.seconds,
            "--json",
        )
        plant = start(*SIM_NODE, "run", PLANT, "--name", given.name, "--json")
        ended = {"recorder": recorder.communicate()[0]}
        for name, process in (("gateway", gateway), ("ecu", ecu), ("plant", plant)):
            process.terminate()
            ended[name] = process.communicate(timeout=END_S)[0]
    checked = subprocess.run([*SIM_NODE, "verify", str(bag), "--json"], stdout=subprocess.PIPE, text=True, check=False)
    counts, report = json.loads(ended["gateway"]), json.loads(checked.stdout)
    print(f"bus     {json.dumps(counts)}\necu     {ended['ecu'].strip()}")
    print(f"bag     {bag}: {report.get('ticks')} ticks, {report.get('verified')} verified bit for bit")
    damper = counts.get("received", {}).get("Damper", {})
    heard = damper.get("received", 0) > 0 and damper.get("wrong") == 0
    if not heard:
        print("the ECU was not heard: is multicast to this host allowed?", file=sys.stderr)
    return checked.returncode or (0 if heard else 1)


if __name__ == "__main__":
    sys.exit(main())
