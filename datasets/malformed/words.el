# directed
0 1
1 two
